// A mail server by smtp-server that prints its port, and each mail that it accepts as one line.
'use strict';

const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { SMTPServer } = require('smtp-server');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'otf-smtp-'));
const [key, cert] = ['key', 'cert'].map((name) => path.join(folder, name));
const made = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=mail.example';
execFileSync('openssl', [...made.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' });

const server = new SMTPServer({
  key: fs.readFileSync(key),
  cert: fs.readFileSync(cert),
  name: 'mail.example',
  hideSTARTTLS: false,
  authMethods: ['PLAIN'],
  authOptional: true,
  allowInsecureAuth: true,
  disableReverseLookup: true,
  maxAllowedUnauthenticatedCommands: false,
  onAuth(auth, session, done) {
    const right = auth.username === 'user' && auth.password === 'secret';
    done(right ? null : new Error('wrong'), right ? { user: auth.username } : undefined);
  },
  onData(stream, session, done) {
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(chunk));
    stream.on('end', () => {
      const { mailFrom, rcptTo } = session.envelope;
      const recipients = rcptTo.map((each) => each.address).join(',');
      const text = Buffer.concat(chunks).toString('hex');
      process.stdout.write(`mail ${(mailFrom && mailFrom.address) || '-'} ${recipients} ${text}\n`);
      done();
    });
  },
});
server.on('error', () => {});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.server.address().port}\n`));
fs.rmSync(folder, { recursive: true });
