-- Makes a claim that does not wait. If a sticky lease of another owner rejects it, demands
-- this lease and returns -1.
WITH granted AS (
${claim})
SELECT owner, token FROM granted
UNION ALL
SELECT '', (SELECT -1 FROM ${demand}) FROM ${table}
WHERE lock_id = :id AND until_us > ${now} AND writer_until_us = -token AND NOT EXISTS (SELECT 1 FROM granted)
