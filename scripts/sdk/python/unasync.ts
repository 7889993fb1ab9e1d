/** Makes the sync form of a module that was written async, word by word. */
const words: readonly (readonly [RegExp, string])[] = [
  [/\basync (def|for|with)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAsyncIterator\b/g, 'Iterator'],
  [/\bAsyncIterable\b/g, 'Iterable'],
  [/\bAsyncGenerator\[([^\]]*), None\]/g, 'Generator[$1, None, None]'],
  [/\bCoroutine\[Any, Any, (\w+(?:\[\w+\])?)\]/g, '$1'],
  [/\bAsyncClient\b/g, 'Client'],
  [/\bAsync([A-Z])/g, '$1'],
  [/\b__a(enter|exit|iter|next)__\b/g, '__$1__'],
  [/\bStopAsyncIteration\b/g, 'StopIteration'],
  [/\baiter_raw\b/g, 'iter_raw'],
  [/\b_async\b/g, '_sync'],
  [/\bwaiting_async\b/g, 'waiting_sync'],
  [/\bwebsockets\.asyncio\b/g, 'websockets.sync'],
];
const renamed: Readonly<Record<string, string>> = {
  aiter: 'iter',
  aclose: 'close',
  anext: 'next',
  aclosing: 'closing',
};

export function syncForm(source: string, name: string): string {
  let made = source;
  for (const [pattern, word] of words) made = made.replaceAll(pattern, word);
  for (const [from, to] of Object.entries(renamed)) made = made.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to);
  return `# \`node scripts/docs.ts\` writes this file from ${name}.\n${made}`;
}
