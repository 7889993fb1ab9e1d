import type { RenderedText } from '@lodge/ports';
import { emptyAnswer } from '../shared/plain.ts';
import { splitMarkdown } from '../shared/split.ts';
import { tablesAsCode } from '../shared/tables.ts';

/** docs.discord.com/developers/resources/message#create-message */
export const maxContentChars = 2_000;

/** Discord takes Markdown as it is, without tables. */
export function renderDiscord(markdown: string): readonly RenderedText[] {
  const pieces = splitMarkdown(tablesAsCode(markdown), maxContentChars);
  return (pieces.length > 0 ? pieces : [emptyAnswer]).map((text) => ({ text, format: null }));
}
