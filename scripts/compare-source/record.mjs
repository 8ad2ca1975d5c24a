// The record of the last run: which texts had no name, as hashes. It has no text of the node.
import { readFileSync, writeFileSync } from 'node:fs'

const byText = (one, other) => (one < other ? -1 : 1)
const byFirst = ([one], [other]) => byText(one, other)

const HEAD = [
  "# Warnings, errors and ends of the process in the node's source that no log pattern names: file:function, hashes of",
  '# the texts. Lines with = are alternatives of the patterns that this source does not have: texts of other versions.',
  '# Written by: npm run compare-source -- --record CLONE…',
]

export const readRecord = (file) => {
  const record = { commits: new Map(), alternatives: new Set(), hashes: new Set() }
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return record
    throw error
  }
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    if (line.startsWith('= ')) record.alternatives.add(line.slice(2))
    else if (line.startsWith('@ ')) {
      const [, repository, commit] = line.split(' ')
      record.commits.set(repository, commit)
    } else {
      const [place, ...hashes] = line.split(' ')
      for (const hash of hashes) record.hashes.add(`${place} ${hash}`)
    }
  }
  return record
}

/** Keeps what the record has of repositories that were not compared. */
export const writeRecord = (file, record, { commits, alternatives, unnamed }) => {
  const isKept = (place) => !commits.has(place.split('/')[0])
  const byPlace = new Map()
  const add = (place, hash) => byPlace.set(place, (byPlace.get(place) ?? new Set()).add(hash))
  for (const entry of record.hashes) {
    const [place, hash] = entry.split(' ')
    if (isKept(place)) add(place, hash)
  }
  for (const { place, hash } of unnamed) add(place, hash)
  const lines = [
    ...HEAD,
    ...[...new Map([...record.commits, ...commits])]
      .toSorted(byFirst)
      .map(([repository, commit]) => `@ ${repository} ${commit}`),
    ...[...alternatives].toSorted(byText).map((one) => `= ${one}`),
    ...[...byPlace].toSorted(byFirst).map(([place, hashes]) => [place, ...[...hashes].toSorted(byText)].join(' ')),
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
}
