#!lua flags=no-writes
-- Reads the channels and the switches of the same version.
-- KEYS     version, channels, switches
-- ARGV     none
-- Returns  {version, {id, record, ...}, {tag, switch, ...}}
return { tonumber(redis.call('GET', KEYS[1]) or 0), redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[3]) }
