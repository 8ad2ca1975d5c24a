import { maintenanceWindow } from '../../health/facts.ts'
import { fact, timeFact } from './fact.ts'
import { type Section, summary, type View } from './section.ts'
import { lenientObject, nullableText } from './reading-schema.ts'

const currentWindow = (view: View) => maintenanceWindow(view.snapshot)

/** Without a reading, it is unknown whether a window is set. */
const isKnown = (view: View): boolean => view.hasReading('maintenance')

export const maintenance: Section = {
  name: 'maintenance',
  groups: [
    {
      collector: 'maintenance',
      source: 'the operator',
      facts: (view) => {
        const found = currentWindow(view)
        const { note } = view.reading('maintenance', lenientObject({ note: nullableText }))
        return [
          fact('announced', isKnown(view) ? found !== undefined : null),
          ...(found
            ? [
                fact('reason', found.reason),
                timeFact('until', found.until, { now: view.at }),
                fact('note', note, { absent: 'none' }),
              ]
            : []),
        ]
      },
    },
  ],
  summary: (view) => {
    const found = currentWindow(view)
    if (found) return summary(`${found.reason}, ${found.left} left`, 'notice')
    return isKnown(view) ? summary('none') : null
  },
}
