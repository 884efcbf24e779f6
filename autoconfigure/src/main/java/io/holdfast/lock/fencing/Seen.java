package io.holdfast.lock.fencing;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * What a fence remembers.
 *
 * @param id the fence's identity
 * @param token the greatest token that it has seen
 * @param owner whose token that was
 */
record Seen(String id, long token, String owner) {

	static Seen of(ResultSet row) throws SQLException {
		// some databases give back the blanks that fill the column
		return new Seen(row.getString("lock_id").stripTrailing(), row.getLong("token"), row.getString("owner"));
	}

	boolean isBy(FenceEntry entry) {
		return this.id.equals(entry.id()) && this.token == entry.token() && this.owner.equals(entry.owner());
	}

}
