-- Fails unless the sequence exists.
SELECT current_setting('transaction_read_only') = 'on',
	has_sequence_privilege('${table}_token', 'USAGE') AND has_sequence_privilege('${table}_token', 'UPDATE')
