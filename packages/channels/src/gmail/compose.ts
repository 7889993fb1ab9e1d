/** A mail of the agent, as bytes. */
import type { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import { partHeader } from './mail/automatic.ts';

export interface MailToSend {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly messageId: string;
  /** The same for every try of this mail. */
  readonly key: string;
  /** Message ids, oldest first; the last one is answered. Empty: it answers nothing. */
  readonly references: readonly string[];
  readonly text: string;
  /** Null: text alone. */
  readonly html: string | null;
  readonly file: { readonly name: string; readonly mediaType: string; readonly content: Readable } | null;
}

export function composeMail(mail: MailToSend): Readable {
  const isAnswer = mail.references.length > 0;
  const composer = new MailComposer({
    from: mail.from,
    to: mail.to,
    subject: mail.subject,
    messageId: mail.messageId,
    ...(isAnswer && { inReplyTo: mail.references.at(-1)!, references: [...mail.references] }),
    // No machine answers it (RFC 3834).
    headers: { 'Auto-Submitted': isAnswer ? 'auto-replied' : 'auto-generated', [partHeader]: mail.key },
    text: mail.text,
    ...(mail.html !== null && { html: mail.html }),
    ...(mail.file && {
      attachments: [{ filename: mail.file.name, contentType: mail.file.mediaType, content: mail.file.content }],
    }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().createReadStream();
}

/** As mail programs do it: Gmail keeps a mail in its thread only under the same subject. */
export function answerSubject(subject: string): string {
  const isAnswer = /^(?:re|aw|sv|antw|ref|odp)\s?:/i.test(subject);
  return isAnswer ? subject : `Re: ${subject}`.trim();
}

/** The same for every try. */
export function messageIdOf(key: string, mailbox: string): string {
  const name = /^[\w-]{1,64}$/.test(key) ? key : Buffer.from(key.slice(0, 64)).toString('hex');
  return `<lodge.${name}@${mailbox.slice(mailbox.indexOf('@') + 1)}>`;
}
