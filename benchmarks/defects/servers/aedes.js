// A broker by aedes that prints its port. From 1.0 on it is made by a call that waits for its store.
'use strict';

const net = require('net');
const aedes = require('aedes');

async function serve() {
  const { Aedes } = aedes;
  const broker = Aedes && Aedes.createBroker ? await Aedes.createBroker() : aedes();
  const server = net.createServer(broker.handle);
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
}

serve();
