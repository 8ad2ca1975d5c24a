interface LogLines {
  readonly log: Readonly<Record<'info' | 'warn' | 'error', (text: string) => void>>
  /** `LEVEL TEXT`. */
  readonly lines: string[]
}

/** A log that keeps its lines, each as `render` gives it. */
export const logLines = (render: (text: string) => string = String): LogLines => {
  const lines: string[] = []
  const put =
    (level: string) =>
    (text: string): void => {
      lines.push(`${level} ${render(text)}`)
    }
  return { log: { info: put('info'), warn: put('warn'), error: put('error') }, lines }
}
