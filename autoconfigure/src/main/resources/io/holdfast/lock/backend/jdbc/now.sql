-- Returns the database's time.
SELECT ${now} AS now_us
