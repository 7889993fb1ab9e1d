import { allSettings } from './config.ts';

/** docs/reference/configuration.md, from the table of settings. */
export function configurationMarkdown(): string {
  const rows = allSettings.map((setting) => {
    const note = setting.fallbackNote;
    const fallback =
      setting.fallback === null || setting.fallback === '' ? (note ?? 'none') : `\`${setting.fallback}\``;
    return [`\`${setting.name}\``, setting.type, fallback, setting.description];
  });
  return `# Configuration

Environment variables, read and checked at start. An empty variable counts as unset; a wrong value or an unknown \`LODGE_\` name stops the start with a sentence that names it.
\`scripts/docs.ts\` writes this page from \`apps/server/src/config/config.ts\`.

${markdownTable([['Variable', 'Takes', 'Default', 'Meaning'], ...rows])}
`;
}

/** A table as the formatter lays it out: every column as wide as its widest cell. The first row is the head. */
function markdownTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const [head, ...body] = rows.map((row) => line(row.map((cell, column) => cell.padEnd(widths[column]!))));
  return [head, line(widths.map((width) => '-'.repeat(width))), ...body].join('\n');
}
