// Asks every target once, all at the same time, and prints what each answered. Runs in a guest: plain Node, nothing imported but Node's own.
// Environment: TARGETS, a JSON list of { protocol: 'tcp' | 'udp', host, port, from?: local address }; TIMEOUT_MS.
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';

const timeoutMs = Number(process.env.TIMEOUT_MS);

function overTcp({ host, port, from }) {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host, port, localAddress: from });
    let failure = 'timeout';
    socket.on('connect', () => (failure = 'silent'));
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(failure)));
    socket.on('data', (chunk) => (text += chunk));
    socket.on('error', (error) => resolve({ answer: null, failure: error.code ?? error.message }));
    socket.on('end', () => resolve({ answer: text, failure: null }));
  });
}

function overUdp({ host, port, from }) {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    const settle = (result) => {
      clearTimeout(timer);
      socket.close();
      resolve(result);
    };
    const timer = setTimeout(() => settle({ answer: null, failure: 'timeout' }), timeoutMs);
    socket.on('message', (message) => settle({ answer: String(message), failure: null }));
    socket.on('error', (error) => settle({ answer: null, failure: error.code }));
    socket.bind(0, from, () => socket.send('probe', port, host));
  });
}

const targets = JSON.parse(process.env.TARGETS);
const results = await Promise.all(
  targets.map((target) => (target.protocol === 'tcp' ? overTcp(target) : overUdp(target))),
);
console.log(JSON.stringify(results));
