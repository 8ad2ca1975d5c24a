/** A set that forgets its oldest members beyond a limit. */
export interface Recent {
  /** Whether it was new. */
  add(member: string): boolean
  /** The members, oldest first. */
  all(): readonly string[]
}

export const createRecent = (limit: number): Recent => {
  const members = new Set<string>()
  return {
    add: (member) => {
      if (members.has(member)) return false
      members.add(member)
      if (members.size > limit) {
        const { value: oldest } = members.values().next()
        if (oldest !== undefined) members.delete(oldest)
      }
      return true
    },
    all: () => [...members],
  }
}
