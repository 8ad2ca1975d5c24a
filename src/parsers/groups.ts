/** Parses the output of `getent group`; members are without users whose primary group it is. Lines of another form are skipped. */
export const parseGroups = (text: string) =>
  text.split('\n').flatMap((line) => {
    const [name = '', , id = '', members = ''] = line.trim().split(':')
    if (name === '' || !/^\d{1,10}$/.test(id)) return []
    return [{ name, id: Number(id), members: members.split(',').filter((one) => one !== '') }]
  })
