#!lua
-- Appends to a log. Each entry has a number; the hash of entries maps it to `<user id or nothing> <record>`, and the zsets of
-- times, of all users and of each, order the numbers by time.
-- KEYS     sequence, entries, times, then the times of each user involved
-- ARGV     one per entry, separated by spaces: number of the key with the times of its user or 0, time in ms, user id or
--          nothing, record
-- Returns  how many entries there are
for i = 1, #ARGV do
  local of, time, entry = string.match(ARGV[i], '^(%d+) (%S+) (.*)$')
  -- Leading zeros make entries of the same millisecond sort by their numbers.
  local number = string.format('%015.0f', redis.call('INCR', KEYS[1]))
  redis.call('HSET', KEYS[2], number, entry)
  redis.call('ZADD', KEYS[3], time, number)
  if of ~= '0' then redis.call('ZADD', KEYS[tonumber(of)], time, number) end
end
return redis.call('ZCARD', KEYS[3])
