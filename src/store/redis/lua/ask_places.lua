#!lua
-- Gives a node its places among the calls that all nodes may have in flight; the twin of askPlaces in core/places.ts.
-- KEYS[1]  of each node: held, until when; until when it is short of places, and since when
-- ARGV     time, node, most, used, wanted, how long they count in ms
-- Returns  {how many it may use, 1 if another node waits for places}
--!include _clock
local now = clock(ARGV[1])
local node, most, used, want = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local taken, others, contended, is_next, since, short_till, last = 0, 0, false, true, now, 0, 0
local waiting = {}
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local held, till, short, from = string.match(fields[i + 1], '^(%d+):(%d+):(%d+):(%d+)$')
  held, till, short, from = tonumber(held), tonumber(till), tonumber(short), tonumber(from)
  if fields[i] == node then
    if short > now then
      short_till = short
      -- Whoever has a place has not been waiting.
      if held == 0 then since = from end
    end
  elseif (held > 0 and till > now) or short > now then
    taken, others, last = taken + held, others + 1, math.max(last, till)
    if short > now then waiting[fields[i]] = from end
  else
    redis.call('HDEL', KEYS[1], fields[i])
  end
end
for other, from in pairs(waiting) do
  contended = true
  is_next = is_next and (since < from or (since == from and node < other))
end
local part = math.max(math.floor(most / (others + 1)), is_next and 1 or 0)
local may = math.max(0, math.min(want, most - taken, contended and part or most))
local held = math.max(may, used)
if want > may then
  short_till = now + 1000
elseif want > 0 then
  short_till = 0
end
if short_till == 0 then since = 0 end
if held > 0 or short_till > 0 then
  local till = now + tonumber(ARGV[6])
  redis.call('HSET', KEYS[1], node, string.format('%.0f:%.0f:%.0f:%.0f', held, till, short_till, since))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(last, till) - now + 60000))
else
  redis.call('HDEL', KEYS[1], node)
end
return { may, contended and 1 or 0 }
