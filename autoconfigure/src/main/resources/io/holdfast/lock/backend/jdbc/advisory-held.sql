l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
	AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
	AND l.classid::bigint = (:key >> 32 & 4294967295) AND l.objid::bigint = (:key & 4294967295)
