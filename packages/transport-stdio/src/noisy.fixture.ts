/** A module that logs while it is imported. */

const { console } = globalThis
console.log('stray log')
process.stdout.write('stray write\n')
