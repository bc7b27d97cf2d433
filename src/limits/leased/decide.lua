-- Decides atomically about one account. A holder (one run of a node) reports what it keeps of each
-- counter, what it needs, and what it would like beyond that; the reply says what it was granted.
-- All numbers are absolute, and an older call never follows a newer one, so a call that arrives
-- twice is idempotent. script.ts describes the call and the reply.
--
-- KEYS[1] the account: epoch, the starts of its windows, and a record for each holder
-- KEYS[2] … its days and months: mark, before, total, and the usage of each holder
-- ARGV[1] the call

local WINDOW_MS = 60000
-- A holder without calls for this long loses its slots.
local LEASE_MS = 30000
-- Unused permits are reported or expire within this time.
local LAPSE_MS = 1000
-- Admissions are in the ledger after this time.
local BOOKED_MS = 500
local ACCOUNT_KEPT_MS = 3600000
local PERIOD_KEPT_MS = 40 * 86400000

local call = cjson.decode(ARGV[1])
local now = call.now
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- State written by another server, or before a restart of this one, may be older than what holders
-- have received since.
local server = redis.pcall('INFO', 'server')
local run = type(server) == 'string' and server:match('run_id:(%x+)') or ''

local epoch, starts, holders = nil, {}, {}
local fields = redis.call('HGETALL', KEYS[1])
for index = 1, #fields, 2 do
  local name, value = fields[index], fields[index + 1]
  if name == 'epoch' then
    epoch = value
  elseif name == 'starts' then
    starts = cjson.decode(value)
  else
    holders[name] = cjson.decode(value)
  end
end
if epoch and epoch:match('^[^/]*') ~= run then
  epoch = nil
end

-- State that Redis does not have yet must come from the ledger first.
local missing, marks, owns, periods = {}, {}, {}, {}
if not epoch and not call.seed then
  missing[#missing + 1] = 'account'
end
for index, asked in ipairs(call.periods) do
  local key = KEYS[index + 1]
  local values = redis.call('HMGET', key, 'mark', 'before', 'total', call.holder)
  local mark, before = tonumber(values[1] or nil), tonumber(values[2] or nil)
  local period = { key = key, mark = mark or asked.mark, before = before }
  period.total = tonumber(values[3] or nil) or 0
  period.own = tonumber(values[4] or nil) or 0
  if period.before == nil and asked.before >= 0 and asked.known == period.mark then
    period.before = asked.before
  end
  -- Usage is reported from a mark on, and is meaningless for another mark.
  if period.mark < 0 or asked.known ~= period.mark then
    missing[#missing + 1] = 'mark'
  elseif period.before == nil and asked.counts then
    missing[#missing + 1] = 'before'
  end
  marks[index], owns[index] = period.mark, period.own
  periods[index] = period
end
if #missing > 0 then
  return cjson.encode({ seq = call.seq, missing = missing, marks = marks, owns = owns })
end

if not epoch then
  redis.call('DEL', KEYS[1])
  epoch = run .. '/' .. now .. '/' .. call.holder .. '/' .. call.seq
  starts, holders = {}, {}
  local books = { seq = 0, ends = 0, windows = {}, slots = {} }
  for _, window in ipairs(call.seed) do
    local start = now - window.age
    starts[window.name] = start
    books.windows[window.name] = { start, window.count, window.tokens }
  end
  holders.books = books
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'books', cjson.encode(books))
end

-- When the ledger was last read.
local begun = tonumber(epoch:match('^[^/]*/([^/]*)'))

for name, start in pairs(starts) do
  if now - start >= WINDOW_MS then
    starts[name] = nil
  end
end

local own = holders[call.holder] or { seq = 0, ends = 0, windows = {}, slots = {} }
local repeated = own.seq >= call.seq

-- A holder with a recent call may have unused permits that it has not reported yet.
local function isRecent(record)
  return record.ends - LEASE_MS > now - LAPSE_MS
end

-- Permits of a window or a cap granted to other holders beyond their need.
local function spareOf(name)
  local count, tokens = 0, 0
  for holder, record in pairs(holders) do
    local spare = record.spare and record.spare[name]
    if holder ~= call.holder and spare and isRecent(record) then
      count, tokens = count + spare[1], tokens + spare[2]
    end
  end
  return count, tokens
end

own.spare = {}

-- Zero for a limit below zero.
local function free(limit, others, keep)
  return limit < 0 and math.huge or limit - others - keep
end

-- Beyond its need, a holder gets at most its share of half of the remainder.
local function extra(wish, left)
  return math.max(0, math.min(wish, math.floor(left / (2 * call.holders))))
end

-- When few slots are left, a holder has to report each slot that it frees.
local function isScarce(limit, left)
  return limit >= 0 and left < math.min(call.holders, limit / 2)
end

local fits = true

local windows = {}
for index, asked in ipairs(call.windows) do
  local start = starts[asked.name]
  local count, tokens = 0, 0
  for holder, record in pairs(holders) do
    local window = record.windows[asked.name]
    if holder ~= call.holder and window and window[1] == start then
      count, tokens = count + window[2], tokens + window[3]
    end
  end
  local keep = asked.keep
  -- Ignores admissions of an expired window, and those that the ledger has reported.
  local isOver = call.epoch ~= epoch and now - asked.latest <= begun - BOOKED_MS
  if asked.start > 0 then
    isOver = asked.start ~= start or call.epoch ~= epoch
  end
  if isOver then
    keep = { 0, 0 }
  end
  if repeated then
    local record = own.windows[asked.name]
    keep = record and record[1] == start and { record[2], record[3] } or { 0, 0 }
  end
  -- An empty window has not started.
  if count + keep[1] == 0 then
    start = nil
  end
  local freeCount = free(asked.limit[1], count, keep[1]) - asked.need[1]
  local freeTokens = free(asked.limit[2], tokens, keep[2]) - asked.need[2]
  if asked.need[1] > 0 and (freeCount < 0 or freeTokens < 0) then
    fits = false
  end
  windows[index] = {
    start = start,
    count = count,
    tokens = tokens,
    keep = keep,
    isOver = isOver,
    freeCount = freeCount,
    freeTokens = freeTokens,
  }
end

local slots = {}
for index, asked in ipairs(call.slots) do
  local others, spare = 0, 0
  for holder, record in pairs(holders) do
    if holder ~= call.holder and record.ends > now then
      local count, mayKeep = unpack(record.slots[asked.name] or { 0, 0 })
      others = others + count
      if mayKeep > 0 and isRecent(record) then
        spare = spare + count
      end
    end
  end
  local left = free(asked.limit, others, asked.keep) - asked.need
  if asked.need > 0 and left < 0 then
    fits = false
  end
  slots[index] = { others = others, spare = spare, left = left }
end

for index, asked in ipairs(call.periods) do
  local period = periods[index]
  period.others = period.total - period.own
  period.left = free(asked.limit, (period.before or 0) + period.others, asked.keep) - asked.need
  if asked.need > 0 and period.left < 0 then
    fits = false
  end
end

local reply = { seq = call.seq, epoch = epoch, fits = fits, windows = {}, slots = {}, periods = {} }

for index, asked in ipairs(call.windows) do
  local window = windows[index]
  local mine = window.keep
  if not repeated and fits and (asked.need[1] > 0 or window.start) and window.freeCount >= 0 then
    local more = { extra(asked.wish[1], window.freeCount), extra(asked.wish[2], window.freeTokens) }
    mine = {
      window.keep[1] + asked.need[1] + more[1],
      window.keep[2] + asked.need[2] + more[2],
    }
    own.spare[asked.name] = more
  end
  local count, tokens = window.count + mine[1], window.tokens + mine[2]
  local start = window.start
  if count == 0 then
    start = nil
  elseif not start then
    start = now - (window.keep[1] > 0 and math.min(asked.age, WINDOW_MS - 1) or 0)
  end
  starts[asked.name] = start
  own.windows[asked.name] = start and { start, mine[1], mine[2] } or nil
  local left = start and start + WINDOW_MS - now or 0
  local over = window.isOver and 1 or 0
  reply.windows[index] =
    { start or 0, left, window.count, window.tokens, mine[1], mine[2], over, spareOf(asked.name) }
end

for index, asked in ipairs(call.slots) do
  local slot = slots[index]
  local mine = asked.keep
  if repeated then
    mine = (own.slots[asked.name] or { 0 })[1]
  elseif fits and (asked.need > 0 or asked.wish > 0) and slot.left >= 0 then
    mine = asked.keep + asked.need + extra(asked.wish, slot.left)
  end
  local mayKeep = isScarce(asked.limit, asked.limit - slot.others - mine) and 0 or 1
  own.slots[asked.name] = mine > 0 and { mine, mayKeep } or nil
  reply.slots[index] = { slot.others, mine, mayKeep, slot.spare }
end

-- Tokens of a cap reserved by other holders' requests in flight. Those of an expired holder count
-- as used.
local function reservedOf(name)
  local tokens = 0
  for holder, record in pairs(holders) do
    if holder ~= call.holder and record.ends > now and record.reserved then
      tokens = tokens + (record.reserved[name] or 0)
    end
  end
  return tokens
end

if not repeated then
  own.reserved = {}
end

for index, asked in ipairs(call.periods) do
  local period = periods[index]
  local mine = asked.keep
  if repeated then
    mine = period.own
  elseif fits and (asked.need > 0 or asked.wish > 0) and period.left >= 0 then
    local more = extra(asked.wish, period.left)
    mine = asked.keep + asked.need + more
    own.spare[asked.name] = { 0, more }
  end
  local _, spare = spareOf(asked.name)
  local reserved = reservedOf(asked.name)
  reply.periods[index] = { period.mark, period.before or -1, period.others, mine, spare, reserved }
  if not repeated then
    own.reserved[asked.name] = asked.reserved + mine - asked.keep
    local key = period.key
    redis.call('HSET', key, 'mark', period.mark, 'total', period.others + mine, call.holder, mine)
    if period.before then
      redis.call('HSET', key, 'before', period.before)
    end
    redis.call('PEXPIRE', key, PERIOD_KEPT_MS)
  end
end

if repeated then
  return cjson.encode(reply)
end

own.seq = call.seq
own.ends = now + LEASE_MS
redis.call('HSET', KEYS[1], call.holder, cjson.encode(own), 'starts', cjson.encode(starts))
for holder, record in pairs(holders) do
  local used = record.ends > now or holder == call.holder
  for name, window in pairs(record.windows) do
    used = used or window[1] == starts[name]
  end
  if not used then
    redis.call('HDEL', KEYS[1], holder)
  end
end
redis.call('PEXPIRE', KEYS[1], ACCOUNT_KEPT_MS)
return cjson.encode(reply)
