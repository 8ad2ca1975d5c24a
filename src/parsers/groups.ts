/** A group of the system's group database. */
export interface Group {
  readonly name: string
  readonly id: number
  /** Without users whose primary group it is. */
  readonly members: readonly string[]
}

/** Parses the output of `getent group`. Lines of another form are skipped. */
export const parseGroups = (text: string): readonly Group[] =>
  text.split('\n').flatMap((line) => {
    const [name = '', , id = '', members = ''] = line.trim().split(':')
    if (name === '' || !/^\d{1,10}$/.test(id)) return []
    return [{ name, id: Number(id), members: members.split(',').filter((one) => one !== '') }]
  })
