import { runbookPage } from './rules.ts'

/** From a cell with the name of an alert. */
export const TO_RUNBOOK = {
  title: 'Runbook of ${__value.raw}',
  url: runbookPage('${__value.raw}'),
}
