/**
 * Mails by postal-mime, but for their text. It makes text of HTML by an expression whose time grows with the square of the HTML:
 * 64 KiB of `<a href="` take it 0.6 s, a megabyte two minutes. Here HTML is read in time that grows with its length.
 */
import PostalMime from 'postal-mime';
import type { Email } from 'postal-mime';
import { cut } from '../../shared/plain.ts';
import { htmlText } from './html-text.ts';

const bounds = { maxNestingDepth: 32, maxHeadersSize: 512 * 1024, forceRfc822Attachments: true };

/** Texts of one part of a mail, or of all ways in which an alternative says the same. */
interface Texts {
  readonly plain?: readonly { readonly value: string }[];
  readonly html?: readonly { readonly value: string }[];
}

class MimeParser extends PostalMime {
  /** By postal-mime, before it calls `renderTextContent`: in the order of the mail. */
  declare readonly textMap: ReadonlyMap<unknown, Texts>;
  /** From here postal-mime takes `text` and `html` of the mail. */
  declare readonly textContent: { plain?: string };
  readonly #maxChars: number;

  constructor(maxChars: number) {
    super(bounds);
    this.#maxChars = maxChars;
  }

  /** In the place of postal-mime's own. */
  renderTextContent(): void {
    let text = '';
    for (const { plain = [], html = [] } of this.textMap.values()) {
      const left = this.#maxChars - text.length;
      if (left <= 0) break;
      const own = plain.map(({ value }) => cut(value, left)).join('\n');
      const shown = own.trim() === '' ? html.map(({ value }) => htmlText(cut(value, left))).join('\n') : own;
      text += `${shown}\n`;
    }
    this.textContent.plain = cut(text, this.#maxChars).trimEnd();
  }
}

/** Rejects for a mail beyond the bounds. `maxChars`: of its text, which HTML is made as well; a mail has no `html` here. */
export const parseMime = (bytes: Buffer, maxChars: number): Promise<Email> => new MimeParser(maxChars).parse(bytes);
