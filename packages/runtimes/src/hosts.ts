/** Hosts of connections in a guest: their names lead to this host, and their authority is trusted. */
import { hostAddress, GuestError, maxExecTimeoutMs, type GuestClient } from '@lodge/guest';
import { authorityPath } from '@lodge/domain';
import type { AgentSettings } from '@lodge/ports';
import { rootText } from './root-file.ts';

type Hosts = AgentSettings['hosts'];

/** The part of a runtime's `inGuest`. Nothing without hosts, so that other agents' digests stay as they were. */
export const hostsInGuest = (hosts: Hosts): { readonly hosts?: object } =>
  hosts === null ? {} : { hosts: { names: hosts.hosts, authority: hosts.authority } };

/** Debian's own list of certificates is made anew with each change, which takes long in an emulated guest. */
const scriptMs = 90_000;
const maxCertificateBytes = 16_384;

/** Brings names and trust of a guest to these hosts, as root. It rewrites nothing that fits. */
export async function applyHosts(
  guest: Pick<GuestClient, 'exec' | 'pace' | 'readFile'>,
  hosts: Hosts,
  signal: AbortSignal,
): Promise<void> {
  if (hosts === null && !(await hadHosts(guest, signal))) return;
  const lines = (hosts?.hosts ?? []).map((host) => `${hostAddress} ${host}`).join('\n');
  const argv = ['sh', '-c', script, 'sh', lines, authorityPath];
  const timeoutMs = Math.min(maxExecTimeoutMs, scriptMs * guest.pace);
  const stdin = hosts?.authority ?? '';
  const { exitCode, stderr } = await guest.exec({ argv, user: 'root', cwd: '/', stdin, timeoutMs }, { signal });
  if (exitCode !== 0) throw new GuestError(200, `hosts could not be put in place: ${stderr.trim().slice(0, 500)}`);
}

/** Whether there were hosts before. The certificate leaves last, so it also tells of a removal that was cut short. */
async function hadHosts(guest: Pick<GuestClient, 'readFile'>, signal: AbortSignal): Promise<boolean> {
  for (const path of [authorityPath, `${authorityPath}.gone`]) {
    if ((await rootText(guest, path, maxCertificateBytes, signal)) !== null) return true;
  }
  return false;
}

/**
 * Files are replaced by a rename. A list of certificates that was cut short is made again, as it is looked at itself. A
 * certificate that goes is aside until it has left the list.
 */
export const script = `
set -eu
umask 022
root=\${LODGE_ROOT:-}
begin='# Hosts of connections, set by API: changes in this block are lost.'
end='# End of the hosts of connections.'
new=$(mktemp "$root/etc/.lodge-XXXXXX")
trap 'rm -f "$new" "$new.pem"' EXIT
awk -v begin="$begin" -v end="$end" '
  $0 == begin { skip = 1 }
  !skip { print }
  $0 == end { skip = 0 }
' "$root/etc/hosts" > "$new"
if [ -n "$1" ]; then printf '%s\\n%s\\n%s\\n' "$begin" "$1" "$end" >> "$new"; fi
if ! cmp -s "$new" "$root/etc/hosts"; then
  chmod 644 "$new"
  mv -f "$new" "$root/etc/hosts"
fi
there="$root$2"
cat > "$new.pem"
if [ -s "$new.pem" ]; then
  if ! cmp -s "$new.pem" "$there"; then
    mkdir -p "\${there%/*}"
    chmod 644 "$new.pem"
    mv -f "$new.pem" "$there"
  fi
  line=$(sed -n 5p "$there")
  grep -qxF "$line" "$root/etc/ssl/certs/ca-certificates.crt" || update-ca-certificates >/dev/null
elif [ -e "$there" ] || [ -e "$there.gone" ]; then
  [ ! -e "$there" ] || mv -f "$there" "$there.gone"
  update-ca-certificates --fresh >/dev/null
  rm -f "$there.gone"
fi
`;
