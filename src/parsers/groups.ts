/** A group of users, as the system's database has it. */
export interface Group {
  readonly name: string
  readonly id: number
  /** Without those whose first group it is. */
  readonly members: readonly string[]
}

/** Parses what `getent group` prints; a line that is none of its is left out. */
export const parseGroups = (text: string): readonly Group[] =>
  text.split('\n').flatMap((line) => {
    const [name = '', , id = '', members = ''] = line.trim().split(':')
    if (name === '' || !/^\d+$/.test(id)) return []
    return [{ name, id: Number(id), members: members.split(',').filter((one) => one !== '') }]
  })
