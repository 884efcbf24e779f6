-- Blocks new readers for a while, because a writer waits for the present ones.
UPDATE ${table} SET writer_until_us = GREATEST(writer_until_us, ${now} + :mark)
WHERE lock_id = :id AND readers_until_us > ${now} ${andLockTimeout}
