// A broker by aedes on the loopback interface, at the port that is its argument; a fresh store for each process.
// The package is that of the folder in which otf runs: `npm install aedes`.
'use strict';

const net = require('net');

let aedes;
try {
  aedes = require(require.resolve('aedes', { paths: [process.cwd()] }));
} catch {
  process.stderr.write(`aedes is not in ${process.cwd()}: run "npm install aedes" there\n`);
  process.exit(1);
}

async function serve(port) {
  const { Aedes } = aedes;
  const broker = Aedes && Aedes.createBroker ? await Aedes.createBroker() : aedes();
  net.createServer(broker.handle).listen(port, '127.0.0.1');
}

serve(Number(process.argv[2]));
