#!lua
-- Notes the keys of a gateway that starts, drops expired notes, and answers what others had noted before.
-- KEYS     the notes
-- ARGV     node, record, time, how long it is kept in ms
-- Returns  {record, ...}
--!include _clock
local now = clock(ARGV[3])
local earlier = {}
local notes = redis.call('HGETALL', KEYS[1])
for i = 1, #notes, 2 do
  local expires, record = string.match(notes[i + 1], '^(%d+) (.*)$')
  if tonumber(expires) <= now then
    redis.call('HDEL', KEYS[1], notes[i])
  elseif notes[i] ~= ARGV[1] then
    earlier[#earlier + 1] = record
  end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now + tonumber(ARGV[4])) .. ' ' .. ARGV[2])
return earlier
