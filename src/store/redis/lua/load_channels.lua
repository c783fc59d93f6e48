-- Reads the channels and the switches of one and the same version.
-- KEYS[1]  the channels; reads `:version`, `:all` and `:switches` below it
-- ARGV     none
-- Returns  {version, {id, record, ...}, {tag, switch, ...}}
return {
  tonumber(redis.call('GET', KEYS[1] .. ':version') or 0),
  redis.call('HGETALL', KEYS[1] .. ':all'),
  redis.call('HGETALL', KEYS[1] .. ':switches'),
}
