pg_notify('${channel}', '${wanted}' || owner)
