-- Reads an account with its expired reservations given back.
-- KEYS[1]  the user; touches `:t:<token>` and `:r` below it
-- ARGV     now ms
-- Returns  its fields, or nil
--!include _reclaim
reclaim(KEYS[1], ARGV[1])
local fields = redis.call('HMGET', KEYS[1], 'id', 'username', 'email', 'display', 'role', 'enabled', 'quota', 'used',
  'requests', 'created')
return fields[1] and fields
