#!lua
-- Takes a share of what all nodes may use; the twin of takeShare in core/share.ts, operation by operation.
-- KEYS[1]  what was taken: window, current, previous
-- ARGV     time, most, want, least, 'sliding' and the length of a window in ms, or 'until' and its end in ms
-- Returns  {units, how long they may be used in ms}, or {0, ms after which to ask again}
--!include _clock
local now = clock(ARGV[1])
local most, want, least, span = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6])
local fields = redis.call('HMGET', KEYS[1], 'window', 'current', 'previous')
local last = { window = tonumber(fields[1] or 0), current = tonumber(fields[2] or 0), previous = tonumber(fields[3] or 0) }
local sliding = ARGV[5] == 'sliding'
local window, current, previous, left, weight = last.window, 0, 0, 0, 0
if sliding then
  local own = math.floor(now / span)
  window = math.max(own, math.min(last.window, own + 1))
  if last.window == window then
    current, previous = last.current, last.previous
  elseif last.window == window - 1 then
    previous = last.current
  end
  left = (window + 1) * span - now
  weight = 1 - math.max(0, now - window * span) / span
else
  if now < last.window then current = last.current else window = span end
  left = window - now
end
local free = math.floor(most - current - previous * weight)
if left > 0 and free >= least then
  local units = math.min(want, free)
  redis.call('HSET', KEYS[1], 'window', string.format('%.0f', window), 'current', string.format('%.0f', current + units),
    'previous', string.format('%.0f', previous))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', sliding and 2 * span or left + 60000))
  return { units, left }
end
local over = most - least - current
local wait = left
if sliding and over >= 0 and previous > 0 then wait = math.min(left, span * (weight - over / previous)) end
return { 0, math.max(1, math.ceil(wait - 0.001)) }
