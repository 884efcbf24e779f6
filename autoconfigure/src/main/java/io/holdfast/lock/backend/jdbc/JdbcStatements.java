package io.holdfast.lock.backend.jdbc;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.NamedParameterUtils;
import org.springframework.jdbc.core.namedparam.ParsedSql;

import io.holdfast.lock.support.Resources;

/**
 * The parsed statements for one database and one table.
 */
final class JdbcStatements {

	private static final String STILL_OWN = """
			SELECT lock_id, owner FROM ${table}
			WHERE lock_id IN (:ids) AND (lock_id, owner, token) IN (:own) AND until_us > ${now}""";

	/** Zero frees the lock at once. A clock might not have reached a later time. */
	private static final String RELEASE = """
			UPDATE ${table} SET until_us = 0, owner = '' ${fromPatience}
			WHERE lock_id = :id AND owner = :owner AND token = :token AND until_us > ${now}""";

	private static final String RELEASE_AND_NOTIFY = """
			WITH freed AS (""" + RELEASE + """
			RETURNING lock_id) SELECT pg_notify('${channel}', lock_id) FROM freed""";

	private static final String NOTIFY = "SELECT pg_notify('${channel}', :id)";

	private static final String ABANDON = """
			UPDATE ${table} SET until_us = CASE WHEN owner = :owner THEN 0 ELSE until_us END,
			owner = CASE WHEN owner = :owner THEN '' ELSE owner END, writer_until_us = 0 ${fromPatience}
			WHERE lock_id = :id""";

	private static final String MARK_WRITER = """
			UPDATE ${table} SET writer_until_us = GREATEST(writer_until_us, ${now} + :mark) ${fromPatience}
			WHERE lock_id = :id AND readers_until_us > ${now}""";

	private static final String LOCK_ROW = """
			SELECT CASE WHEN until_us > ${now} THEN 1 ELSE 0 END AS written FROM ${table}${andPatience}
			WHERE lock_id = :id FOR UPDATE""";

	private static final String READ_STATE = """
			SELECT l.token, r.token AS own, ${now} AS now_us,
			CASE WHEN l.until_us > ${now} THEN 1 ELSE 0 END AS written,
			CASE WHEN l.writer_until_us > ${now} THEN 1 ELSE 0 END AS wanted
			FROM ${table} l LEFT JOIN ${table}_reader r
			ON r.lock_id = l.lock_id AND r.owner = :owner AND r.until_us > ${now}
			WHERE l.lock_id = :id""";

	private static final String FORGET_READERS = "DELETE FROM ${table}_reader WHERE lock_id = :id AND (owner = :owner OR until_us <= ${now})";

	private static final String INSERT_READER = """
			INSERT INTO ${table}_reader (lock_id, owner, token, until_us)
			VALUES (:id, :owner, :token, ${now} + :lease)""";

	/** Rows that no writer holds and no other transaction has locked. */
	private static final String LOCK_ROWS = """
			SELECT lock_id FROM ${table} WHERE lock_id IN (:ids) AND until_us <= ${now} FOR UPDATE SKIP LOCKED""";

	private static final String STILL_OWN_READERS = """
			SELECT r.lock_id, r.owner FROM ${table}_reader r JOIN ${table} l ON l.lock_id = r.lock_id
			WHERE r.lock_id IN (:ids) AND (r.lock_id, r.owner, r.token) IN (:own)
			AND r.until_us > ${now} AND l.until_us <= ${now}""";

	private static final String RENEW_READERS = """
			UPDATE ${table}_reader SET until_us = ${now} + :lease
			WHERE lock_id IN (:ids) AND (lock_id, owner, token) IN (:own)""";

	private static final String COUNT_READERS = """
			UPDATE ${table} AS l SET readers_until_us = COALESCE(
			(SELECT MAX(r.until_us) FROM ${table}_reader r WHERE r.lock_id = l.lock_id), 0)
			WHERE l.lock_id IN (:ids)""";

	private static final String DELETE_READER = """
			DELETE FROM ${table}_reader
			WHERE lock_id = :id AND owner = :owner AND token = :token AND until_us > ${now}""";

	/**
	 * Also removes a writer whose lease has expired. An earlier statement of this writer
	 * may still wait for the row, with an older time.
	 */
	private static final String ADMIT_READERS = """
			UPDATE ${table} SET owner = CASE WHEN until_us > ${now} THEN owner ELSE '' END,
			token = GREATEST(token, :token), readers_until_us = COALESCE(
			(SELECT MAX(r.until_us) FROM ${table}_reader r WHERE r.lock_id = :id), 0)
			WHERE lock_id = :id""";

	private static final String PROBE = "SELECT COUNT(*) FROM ${table} l, ${table}_reader r WHERE l.lock_id = '' AND r.lock_id = ''";

	final ParsedSql acquire;

	final ParsedSql renew;

	final ParsedSql release;

	/** Notifies waiters; {@code null} if the database does not support it. */
	final @Nullable ParsedSql notify;

	final ParsedSql abandon;

	final ParsedSql markWriter;

	final ParsedSql lockRow;

	final ParsedSql readState;

	final ParsedSql forgetReaders;

	final ParsedSql insertRow;

	final ParsedSql insertReader;

	final ParsedSql stillOwn;

	final ParsedSql lockRows;

	final ParsedSql stillOwnReaders;

	final ParsedSql renewReaders;

	final ParsedSql countReaders;

	final ParsedSql deleteReader;

	final ParsedSql admitReaders;

	final ParsedSql probe;

	private final String table;

	private final String now;

	private final String patience;

	JdbcStatements(JdbcDialect dialect, String table, int timeoutSeconds) {
		this.table = table;
		this.now = dialect.now();
		this.patience = dialect.patience(timeoutSeconds);
		this.acquire = parse(Resources.text(JdbcStatements.class, dialect.resource("acquire")));
		this.renew = parse(Resources.text(JdbcStatements.class, dialect.resource("renew")));
		this.release = parse(dialect.notifies() ? RELEASE_AND_NOTIFY : RELEASE);
		this.notify = dialect.notifies() ? parse(NOTIFY) : null;
		this.abandon = parse(ABANDON);
		this.markWriter = parse(MARK_WRITER);
		this.insertRow = parse(Resources.text(JdbcStatements.class, dialect.resource("insert-row")));
		this.lockRow = parse(LOCK_ROW);
		this.readState = parse(READ_STATE);
		this.forgetReaders = parse(FORGET_READERS);
		this.insertReader = parse(INSERT_READER);
		this.stillOwn = parse(STILL_OWN);
		this.lockRows = parse(LOCK_ROWS);
		this.stillOwnReaders = parse(STILL_OWN_READERS);
		this.renewReaders = parse(RENEW_READERS);
		this.countReaders = parse(COUNT_READERS);
		this.deleteReader = parse(DELETE_READER);
		this.admitReaders = parse(ADMIT_READERS);
		this.probe = parse(PROBE);
	}

	private ParsedSql parse(String sql) {
		String and = this.patience.isEmpty() ? "" : ", ";
		String from = this.patience.isEmpty() ? "" : "FROM ";
		return NamedParameterUtils.parseSqlStatement(sql.replace("${table}", this.table)
			.replace("${now}", this.now)
			.replace("${andPatience}", and + this.patience)
			.replace("${fromPatience}", from + this.patience)
			.replace("${channel}", ReleaseNotifications.CHANNEL));
	}

}
