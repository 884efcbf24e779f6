-- Releases a shared lease if this grant still holds it.
DELETE FROM ${table}_reader
WHERE lock_id = :id AND owner = :owner AND token = :token AND until_us > ${now}
