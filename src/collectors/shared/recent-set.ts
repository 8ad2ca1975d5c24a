/** A set with at most N members; adding one more removes the oldest. */
export const createRecentSet = (limit: number) => {
  const members = new Set<string>()
  return {
    /** Returns whether the member was new. */
    add: (member: string): boolean => {
      if (members.has(member)) return false
      members.add(member)
      if (members.size > limit) {
        const { value: oldest } = members.values().next()
        if (oldest !== undefined) members.delete(oldest)
      }
      return true
    },
    /** The members, oldest first. */
    all: (): readonly string[] => [...members],
  }
}
