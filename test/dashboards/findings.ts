/** The checks of the dashboards. */
export type Rule = 'words' | 'rate' | 'metric' | 'query' | 'empty' | 'legend' | 'many' | 'style'

/** A problem of a dashboard, as a sentence. */
export interface Finding {
  readonly rule: Rule
  readonly text: string
}

/** `node, panel "Height", target A: it shows nothing: no series answers.` */
export const finding = (rule: Rule, where: string, what: string): Finding => ({ rule, text: `${where}: ${what}.` })
