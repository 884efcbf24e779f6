CASE WHEN l.writer_until_us = -l.token THEN (SELECT 2 FROM pg_notify('${channel}', '${wanted}' || l.owner)) ELSE 1 END
