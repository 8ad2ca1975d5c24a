import { namesIn } from '../../config/key-names.ts'
import { figure } from '../../core/format.ts'
import { diagnose } from '../../health/diagnosis.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { diagnosisDocument } from '../../terminal/diagnosis.ts'
import { InterruptedError } from '../../terminal/io.ts'
import { recordingOf } from '../ledger/ledger.ts'
import { createNameOf, renderReport, shownLine } from './page.ts'
import { analyseLog } from './report.ts'

interface MonlogOptions {
  readonly raw?: true
  readonly names?: true
  readonly until?: number
  readonly file?: string
}

export const printAnalysis = async (context: ConfiguredContext<MonlogOptions>): Promise<void> => {
  const { io, exit, options, config, host, gather, print } = context
  const { file, until, raw = false, names: wantsNames = false } = options
  const nameOf = createNameOf(namesIn(wantsNames ? config.names.file : null))
  const readNow = async () => {
    // The log of another time needs no reading of now, which takes most of the time.
    if (file !== undefined || until !== undefined) return null
    return (await import('../shared/read-snapshot.ts')).readSnapshot(io, config)
  }
  // After an interruption the status is unknown.
  const [report, snapshot] = await gather(
    (show) => {
      const onLines = (lines: number): void => show(`Reading the log: ${figure(lines)} lines`)
      return Promise.all([analyseLog({ ...host, until, recording: recordingOf(io, file), onLines }), readNow()])
    },
    new InterruptedError(undefined, 2),
  )
  const diagnosis = snapshot && diagnose(snapshot)
  const newest = raw ? report.newest.map(({ at, text }) => ({ at, text: shownLine(text, nameOf) })) : null
  print({
    document: () => ({
      ...report,
      newest,
      diagnosis: diagnosis && diagnosisDocument(diagnosis),
    }),
    lines: (style) => {
      const hasNoNames = wantsNames && config.names.file === null
      return renderReport(report, { style, nameOf, head: diagnosis, newest, hasNoNames })
    },
  })
  exit(diagnosis && diagnosis.exitCode > report.log.exitCode ? diagnosis.exitCode : report.log.exitCode)
}
