// Plain JavaScript: a Node that is too old cannot even read the file that would say so.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`Mainline needs Node 22.18 or newer and this is ${process.versions.node}: run npm ci, which brings one.`);
  process.exit(1);
}
