/** A mail as Gmail has it: with the headers that Google's own servers put before those of the sender. */

export interface MailFile {
  readonly name: string;
  readonly mediaType: string;
  readonly content: string | Uint8Array;
  /** Default `attachment`. */
  readonly disposition?: 'attachment' | 'inline';
}

export interface Mail {
  /** An address, or a whole value of `From`. */
  readonly from: string;
  readonly to?: string;
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly files?: readonly MailFile[];
  readonly messageId?: string;
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  /** As lines of `Name: value`, after those above. */
  readonly headers?: readonly string[];
  /**
   * Google's findings about the sender. `pass` and `fail` are of its DMARC; `none`: its domain signs nothing; `unstamped`:
   * no such header; or a whole value. Default `pass`.
   */
  readonly authentication?: string;
  /** Default: the sender's address; empty for a bounce. */
  readonly returnPath?: string;
}

const nl = '\r\n';

/** The text of the whole mail, as `messages.get` with `format=raw` has it. */
export function mailText(mail: Mail, mailbox: string, messageId: string, sentAt: Date): string {
  return (
    [...traceHeaders(mail, mailbox), ...senderHeaders(mail, mailbox, messageId, sentAt)].join(nl) + nl + body(mail)
  );
}

/** The text between the angle brackets, or all of it. */
export function bareAddress(from: string): string {
  const open = from.lastIndexOf('<');
  const close = from.indexOf('>', open);
  return (open === -1 || close === -1 ? from : from.slice(open + 1, close)).trim().toLowerCase();
}

function traceHeaders(mail: Mail, mailbox: string): string[] {
  const address = bareAddress(mail.from);
  const domain = address.slice(address.lastIndexOf('@') + 1);
  const authentication = authenticationOf(mail.authentication ?? 'pass', address, domain);
  return [
    `Delivered-To: ${mailbox}`,
    'Received: by 2002:a05:6a00:1f12:b0:4c0:aa11:bb22 with SMTP id be18csp1234567pfb;',
    '        Sun, 22 Nov 2026 10:00:01 -0800 (PST)',
    'X-Received: by 2002:a17:90b:4a8e:b0:2e2:af04:c3e6 with SMTP id lp14mr123456pjb.1.1700000000000;',
    '        Sun, 22 Nov 2026 10:00:01 -0800 (PST)',
    `Return-Path: <${mail.returnPath ?? address}>`,
    `Received: from mail.${domain} (mail.${domain}. [192.0.2.7])`,
    '        by mx.google.com with ESMTPS id x1-20020a17090a1234si123456pjb.1.2026.11.22.10.00.01',
    `        for <${mailbox}>`,
    '        (version=TLS1_3 cipher=TLS_AES_256_GCM_SHA384 bits=256/256);',
    '        Sun, 22 Nov 2026 10:00:01 -0800 (PST)',
    `Received-SPF: pass (google.com: domain of ${address} designates 192.0.2.7 as permitted sender) client-ip=192.0.2.7;`,
    ...(authentication === null ? [] : [`Authentication-Results: ${authentication}`]),
  ];
}

function authenticationOf(wanted: string, address: string, domain: string): string | null {
  const spf = `spf=pass (google.com: domain of ${address} designates 192.0.2.7 as permitted sender) smtp.mailfrom=${address}`;
  switch (wanted) {
    case 'pass':
      return `mx.google.com;${nl}       dkim=pass header.i=@${domain} header.s=s1 header.b=AbCdEf12;${nl}       ${spf};${nl}       dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=${domain}`;
    case 'fail':
      return `mx.google.com;${nl}       spf=softfail (google.com: domain of transitioning ${address} does not designate 192.0.2.7 as permitted sender) smtp.mailfrom=${address};${nl}       dmarc=fail (p=NONE sp=NONE dis=NONE) header.from=${domain}`;
    case 'none':
      return `mx.google.com;${nl}       spf=none (google.com: ${address} does not designate permitted sender hosts) smtp.mailfrom=${address}`;
    case 'unstamped':
      return null;
    default:
      return wanted;
  }
}

function senderHeaders(mail: Mail, mailbox: string, messageId: string, sentAt: Date): string[] {
  return [
    `From: ${mail.from}`,
    `To: ${mail.to ?? mailbox}`,
    `Subject: ${mail.subject ?? 'A question'}`,
    `Date: ${sentAt.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: ${messageId}`,
    ...(mail.inReplyTo === undefined ? [] : [`In-Reply-To: ${mail.inReplyTo}`]),
    ...(mail.references === undefined ? [] : [`References: ${mail.references.join(' ')}`]),
    ...(mail.headers ?? []),
    'MIME-Version: 1.0',
  ];
}

const mixed = 'mixed-0a1b2c';
const alternative = 'alternative-0a1b2c';

function body(mail: Mail): string {
  const files = mail.files ?? [];
  const content = alternativeOf(mail);
  if (files.length === 0) return content + nl;
  const parts = [content, ...files.map(filePart)].map((part) => `--${mixed}${nl}${part}${nl}`).join('');
  return `Content-Type: multipart/mixed; boundary="${mixed}"${nl}${nl}${parts}--${mixed}--${nl}`;
}

function alternativeOf({ text, html }: Mail): string {
  if (html === undefined) return textPart('plain', text ?? '');
  if (text === undefined) return textPart('html', html);
  const parts = [textPart('plain', text), textPart('html', html)].map((part) => `--${alternative}${nl}${part}${nl}`);
  return `Content-Type: multipart/alternative; boundary="${alternative}"${nl}${nl}${parts.join('')}--${alternative}--`;
}

const textPart = (kind: 'plain' | 'html', text: string): string =>
  `Content-Type: text/${kind}; charset="utf-8"${nl}Content-Transfer-Encoding: base64${nl}${nl}${base64Lines(text)}`;

const filePart = ({ name, mediaType, content, disposition }: MailFile): string =>
  `Content-Type: ${mediaType}; name="${name}"${nl}Content-Disposition: ${disposition ?? 'attachment'}; filename="${name}"${nl}` +
  `Content-Transfer-Encoding: base64${nl}${nl}${base64Lines(content)}`;

function base64Lines(content: string | Uint8Array): string {
  const text = Buffer.from(content as Uint8Array).toString('base64');
  const lines: string[] = [];
  for (let at = 0; at < text.length; at += 76) lines.push(text.slice(at, at + 76));
  return lines.join(nl);
}
