// Replaces the lines of dist in a stack trace by those of the sources: `node scripts/stack-trace.mjs [MAPS] < TRACE`. MAPS is
// the unpacked archive of maps of the release, by default .cache/maps of the last build.
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const [maps = '.cache/maps'] = process.argv.slice(2)

const translate = (position, file, ...place) => {
  const map = join(maps, `${file}.map`)
  if (!existsSync(map)) {
    console.error(`${maps} has no map of ${file}: use the maps of the release that wrote the trace.`)
    process.exitCode = 1
    return position
  }
  const { fileName, lineNumber, columnNumber } = new SourceMap(JSON.parse(readFileSync(map, 'utf8'))).findOrigin(
    Number(place[0]),
    Number(place[1]),
  )
  return fileName === undefined ? position : `${fileName.replace(/^(?:\.\.\/)+/, '')}:${lineNumber}:${columnNumber}`
}

const trace = await text(process.stdin)
process.stdout.write(trace.replaceAll(/[^\s()]*\/dist\/((?:chunks\/)?[\w.-]+\.js):(\d+):(\d+)/g, translate))
