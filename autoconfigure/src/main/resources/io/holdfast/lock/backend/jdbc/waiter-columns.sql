-- Assignments for a claim that waits. The claim that has waited longest is the first
-- waiter, for which the release keeps the lock. A waiting writer also blocks new readers
-- for a while. MariaDB assigns from left to right, other databases assign all at once.
	waiter = CASE WHEN waiter = '' OR waiter_until_us <= ${now} OR waiter_since_us > ${now} - :waited
		THEN :owner ELSE waiter END,
	waiter_since_us = CASE WHEN waiter IN ('', :owner) OR waiter_until_us <= ${now}
		OR waiter_since_us > ${now} - :waited THEN ${now} - :waited ELSE waiter_since_us END,
	waiter_until_us = GREATEST(waiter_until_us, ${now} + :await),
	writer_until_us = CASE WHEN :writes = 1 AND readers_until_us > ${now}
		THEN ${now} + :mark ELSE writer_until_us END
