// The parts of prom-client in use. Its entrance loads a push gateway, and with it Node's https and tls, quantiles and
// the cluster module as well: memory for a proxy's whole life.
export { default as Counter } from 'prom-client/lib/counter.js';
export { default as Gauge } from 'prom-client/lib/gauge.js';
export { default as Histogram } from 'prom-client/lib/histogram.js';
export { default as Registry } from 'prom-client/lib/registry.js';
export { default as collectDefaultMetrics } from 'prom-client/lib/defaultMetrics.js';
