// A chain that looks like ours from outside: its id, its pace.
module.exports = {
  networks: {
    hardhat: { chainId: 143, mining: { auto: false, interval: 400 }, loggingEnabled: false },
  },
}
