#!lua
-- Appends a batch to a log of requests, once: a batch that its writer sends again changes nothing. Each entry has a number; the
-- hash of entries maps it to `<user id or nothing> <record>`, the hash of ids maps the id of a request to its number, and the
-- zsets of times, of all users and of each, order the numbers by time.
-- KEYS     sequence, entries, times, ids, number of the writer's last batch, then the times of each user involved
-- ARGV     number of the batch, or 0 if it is never sent again; then one per entry, separated by spaces: number of the key with
--          the times of its user or 0, time in ms, id of the request, user id or nothing, record
-- Returns  how many entries there are
local WRITER_TTL_MS = 86400000
local batch = tonumber(ARGV[1])
if batch > 0 then
  if tonumber(redis.call('GET', KEYS[5]) or 0) >= batch then return redis.call('ZCARD', KEYS[3]) end
  redis.call('SET', KEYS[5], ARGV[1], 'PX', WRITER_TTL_MS)
end
for i = 2, #ARGV do
  local of, time, id, entry = string.match(ARGV[i], '^(%d+) (%S+) (%S+) (.*)$')
  -- Leading zeros make entries of the same millisecond sort by their numbers.
  local number = string.format('%015.0f', redis.call('INCR', KEYS[1]))
  redis.call('HSET', KEYS[2], number, entry)
  redis.call('ZADD', KEYS[3], time, number)
  redis.call('HSET', KEYS[4], id, number)
  if of ~= '0' then redis.call('ZADD', KEYS[tonumber(of)], time, number) end
end
return redis.call('ZCARD', KEYS[3])
