// A broker by aedes on the loopback interface; a fresh store for each process. Arguments: its port, and the first
// number of the version. The package is that of the folder in which otf runs: `npm install aedes`.
'use strict';

const fs = require('fs');
const net = require('net');
const path = require('path');
const url = require('url');

const [port, wanted] = process.argv.slice(2);
const INSTALL = wanted === '2' ? 'npm install aedes@2.0.0-beta.1' : 'npm install aedes@1';

function found() {
  try {
    return require.resolve('aedes', { paths: [process.cwd()] });
  } catch {
    process.stderr.write(`aedes is not in ${process.cwd()}: run "${INSTALL}" there\n`);
    return process.exit(1);
  }
}

async function serve() {
  const main = found();
  const { version } = JSON.parse(fs.readFileSync(path.join(path.dirname(main), 'package.json'), 'utf8'));
  if (version.split('.')[0] !== wanted) {
    process.stderr.write(`aedes ${version} is in ${process.cwd()}, not ${wanted}: run "${INSTALL}" there\n`);
    process.exit(1);
  }
  const { Aedes } = await import(url.pathToFileURL(main).href);
  // by default a server of MQTT 5.0 takes no topic aliases
  const broker = await Aedes.createBroker({ topicAliasMaximum: 10 });
  net.createServer(broker.handle).listen(Number(port), '127.0.0.1');
}

serve();
