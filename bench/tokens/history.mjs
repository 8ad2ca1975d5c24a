// Writes a synthetic history of one ERC-20 contract to a folder, as the JSON of the service and as the binary pages
// of the official client. The same number of logs gives the same history.
//   node history.mjs FOLDER LOGS [arrow]        without `arrow`, only the JSON
import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { BLOCKS_PER_PAGE, FIRST_BLOCK, LOGS_PER_BLOCK, TRANSFER } from './layout.mjs'
import { random } from '../random.mjs'

/** Values are multiples of this many of the smallest units, so that a balance fits in a double while the history is generated. */
const UNIT = 10n ** 13n
const MOST_UNITS = 1e8

const [folder, count, format] = [process.argv[2], Number(process.argv[3]), process.argv[4]]
/** A long history also has more holders. */
const HOLDERS = Math.max(1_000_000, count)
const { arrowPage } = format === 'arrow' ? await import('./arrow-page.mjs') : { arrowPage: () => Buffer.alloc(0) }
mkdirSync(folder, { recursive: true })

const chance = random(20_261_121)
const names = Array.from({ length: HOLDERS })
const nameOf = (holder) =>
  (names[holder] ??= `${'0'.repeat(24)}${createHash('sha1').update(`${holder}`).digest('hex')}`)
/** A few addresses have most of the transfers. */
const anyone = () => Math.floor(HOLDERS * chance() ** 3)

const ZERO_ADDRESS = '0'.repeat(64)
const units = new Float64Array(HOLDERS)

/** A holder with a balance. */
const giver = () => {
  for (;;) {
    const holder = anyone()
    if (units[holder] > 0) return holder
  }
}

/** A transfer of a part of a balance, often to a new address; one in fifty is a mint. */
const draw = (index) => {
  const recipient = anyone()
  const isMint = index % 50 === 0
  const sender = isMint ? undefined : giver()
  const most = isMint ? MOST_UNITS : units[sender]
  const value = Math.floor(chance() * most) + 1
  if (!isMint) units[sender] -= value
  units[recipient] += value
  return { from: isMint ? ZERO_ADDRESS : nameOf(sender), to: nameOf(recipient), value }
}

const json = openSync(join(folder, 'logs.json'), 'w')
const arrow = openSync(join(folder, 'pages.arrow'), 'w')
const jsonPlaces = [0]
const arrowPlaces = [0]
const perPage = BLOCKS_PER_PAGE * LOGS_PER_BLOCK
for (let done = 0; done < count; done += perPage) {
  const logs = []
  const texts = []
  for (let index = done; index < Math.min(done + perPage, count); index += 1) {
    const block = FIRST_BLOCK + Math.floor(index / LOGS_PER_BLOCK)
    const logIndex = (index % LOGS_PER_BLOCK) * 3
    const { from, to, value } = draw(index)
    const data = (BigInt(value) * UNIT).toString(16).padStart(64, '0')
    logs.push({ block, logIndex, words: [TRANSFER, from, to, data] })
    // Each log ends with a comma, so any range of blocks is a JSON list except for its last byte.
    texts.push(
      `{"block_number":${block},"log_index":${logIndex},"topic0":"0x${TRANSFER}","topic1":"0x${from}","topic2":"0x${to}","data":"0x${data}"},`,
    )
    if ((index + 1) % LOGS_PER_BLOCK === 0 || index + 1 === count) {
      const bytes = Buffer.from(texts.join(''), 'latin1')
      texts.length = 0
      writeSync(json, bytes)
      jsonPlaces.push(jsonPlaces.at(-1) + bytes.length)
    }
  }
  const height = FIRST_BLOCK + Math.ceil(count / LOGS_PER_BLOCK) - 1
  const page = arrowPage(logs, { height, next: logs.at(-1).block + 1 })
  writeSync(arrow, page)
  arrowPlaces.push(arrowPlaces.at(-1) + page.length)
}
closeSync(json)
closeSync(arrow)
writeFileSync(join(folder, 'places.json'), JSON.stringify({ count, json: jsonPlaces, arrow: arrowPlaces }))
