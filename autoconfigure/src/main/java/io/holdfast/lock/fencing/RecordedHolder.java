package io.holdfast.lock.fencing;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The last holder that a fence has recorded.
 *
 * @param id the identity of the fence
 * @param token the greatest token that it has seen
 * @param owner the owner id that belongs to the token
 */
record RecordedHolder(String id, long token, String owner) {

	static RecordedHolder of(ResultSet row) throws SQLException {
		// some databases return the spaces that pad the column
		return new RecordedHolder(row.getString("lock_id").stripTrailing(), row.getLong("token"),
				row.getString("owner"));
	}

	boolean isBy(FenceEntry entry) {
		return this.id.equals(entry.id()) && this.token == entry.token() && this.owner.equals(entry.owner());
	}

}
