/** The thread of a `MailThread`: one job after another. */
import { parentPort } from 'node:worker_threads';
import MarkdownIt from 'markdown-it';
import { ownMemory } from './mail-jobs.ts';
import type { MailJob, MailResult, MailResults } from './mail-jobs.ts';
import { fileOfMail, readHead, readMail } from './read-mail.ts';

/**
 * Makes HTML of Markdown for a mail, in this thread because some texts take seconds. Pictures stay links: a mail program that loads them would tell a stranger's server what an answer says in an address.
 * HTML in the Markdown is shown as text.
 */
const markdown = new MarkdownIt('default', { html: false, linkify: false, breaks: true, typographer: false }).disable(
  'image',
);

const htmlOf = (text: string): string => `<div dir="auto">${markdown.render(text)}</div>`;

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
