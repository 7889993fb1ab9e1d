/** The thread of a `MailThread`: one job after another. */
import { parentPort } from 'node:worker_threads';
import { htmlOf } from './html-of.ts';
import { ownMemory } from './mail-jobs.ts';
import type { MailJob, MailResult, MailResults } from './mail-jobs.ts';
import { fileOfMail, readHead, readMail } from './read-mail.ts';

async function resultOf(job: MailJob): Promise<MailResults[MailJob['kind']]> {
  switch (job.kind) {
    case 'head':
      return readHead(job.answer, job.mailbox);
    case 'read':
      return readMail(job.answer, job.mailbox).catch(() => ({ skipped: 'unreadable' as const }));
    case 'file':
      return fileOfMail(job.answer, job.index);
    case 'html':
      return htmlOf(job.text);
  }
}

parentPort!.on('message', (job: MailJob) => {
  resultOf(job).then(
    (result) => {
      const memory = result instanceof Uint8Array ? ownMemory(result) : [];
      parentPort!.postMessage({ result } satisfies MailResult, memory);
    },
    () => parentPort!.postMessage({ failed: true } satisfies MailResult, []),
  );
});

parentPort!.postMessage('ready', []);
