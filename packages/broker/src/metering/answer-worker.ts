/** The thread of an `AnswerReader`: reads one answer after another. */
import { parentPort } from 'node:worker_threads';
import { scanJson } from '../json/scanner.ts';
import { wires } from '../wires/index.ts';
import { readAnswer } from './answer.ts';
import { ownMemory } from './answer-reader.ts';
import type { AnswerJob, AnswerResult } from './answer-reader.ts';
import { redactor } from './redact.ts';
import { TokenMeter } from './token-meter.ts';

/** Probabilities of every token of a long answer are many values. */
const bounds = { depth: 256, values: 3_000_000 };

function parse(text: string): unknown {
  scanJson(Buffer.from(text), bounds);
  return JSON.parse(text);
}

parentPort!.on('message', ({ kind, bytes, api, secrets, meter: state }: AnswerJob) => {
  const wire = wires.find((candidate) => candidate.api === api)!;
  const meter = new TokenMeter(wire);
  meter.state = state;
  const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const read = readAnswer(kind, given, wire, meter, redactor(secrets), parse);
  parentPort!.postMessage({ ...read, meter: meter.state } satisfies AnswerResult, ownMemory(read.clean));
});

parentPort!.postMessage('ready', []);
