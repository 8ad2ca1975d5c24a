/** A problem of a dashboard, as a sentence. */
export interface Finding {
  readonly rule: Rule
  readonly text: string
}

export type Rule =
  | 'words'
  | 'unit'
  | 'rate'
  | 'metric'
  | 'link'
  | 'contrast'
  | 'style'
  | 'query'
  | 'empty'
  | 'legend'
  | 'many'
  | 'excuse'

/** `node, panel "Height", target A: the unit is missing; expected one of Grafana's.` */
export const finding = (rule: Rule, where: string, what: string): Finding => ({
  rule,
  text: `${where}: ${what}.`,
})
