-- Sequence of the lock backend 'jdbc' in the mode 'advisory', for PostgreSQL.
-- It provides the fencing tokens. Each new connection advances it to the database's time
-- in microseconds, so tokens also exceed those of the mode 'rows'.
CREATE SEQUENCE IF NOT EXISTS ${table}_token AS BIGINT MINVALUE 1 MAXVALUE 9007199254740991 NO CYCLE;
