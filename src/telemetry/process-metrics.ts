// The certificate, the worker processes and the configuration of this program.
import type { WorkerStatus } from '../reports/counts.ts';
import { flag, scraped, scrapedNumber, type ScrapedMetric } from './scrape.ts';

export const PROCESS_METRICS: readonly ScrapedMetric[] = [
  scraped(
    'pointsman_tls_certificate_expiry_timestamp_seconds',
    'Expiry of the TLS certificates presented to clients (client.tls) and to members (backend.tls; Unix time).',
    ['file'],
    ({ certificate, memberPair }) =>
      [certificate, memberPair]
        .filter((one) => one !== undefined)
        .map(({ file, expiresAt }) => [{ file }, expiresAt / 1000]),
  ),
  scraped(
    'pointsman_tls_certificate_current',
    '1 if the TLS certificate that clients get is that of its files, 0 if the files cannot be used.',
    ['file'],
    ({ certificate }) => (certificate === undefined ? [] : [[{ file: certificate.file }, flag(certificate.isCurrent)]]),
  ),
  scrapedNumber(
    'pointsman_workers',
    'Worker processes that accept clients; 0 if the main process serves them itself.',
    ({ workers }) => workers.filter(({ isReady }) => isReady).length,
  ),
  ofWorkers('pointsman_worker_restarts_total', 'Times a worker was replaced.', ({ restarts }) => restarts),
  ofWorkers('pointsman_worker_sessions', 'Current client connections, by worker.', ({ sessions }) => sessions),
  ofWorkers(
    'pointsman_worker_cpu_seconds_total',
    'CPU time of the worker, user and system; starts again at 0 when it is replaced.',
    ({ cpuSeconds }) => cpuSeconds,
  ),
  ofWorkers(
    'pointsman_worker_resident_memory_bytes',
    'Resident memory of the worker.',
    ({ residentBytes }) => residentBytes,
  ),
  scrapedNumber(
    'pointsman_config_last_reload_success_timestamp_seconds',
    'Time at which the configuration in effect was loaded, at the start or by a reload (Unix time).',
    ({ configLoadedAt }) => configLoadedAt / 1000,
  ),
  scrapedNumber(
    'pointsman_log_lines_dropped_total',
    'Log lines lost, because the reader was too slow or had ended, or the disk was full.',
    ({ droppedLogLines }) => droppedLogLines,
  ),
];

function ofWorkers(name: string, help: string, read: (worker: WorkerStatus) => number): ScrapedMetric {
  return scraped(name, help, ['worker'], ({ workers }) =>
    workers.map((worker) => [{ worker: String(worker.number) }, read(worker)]),
  );
}
