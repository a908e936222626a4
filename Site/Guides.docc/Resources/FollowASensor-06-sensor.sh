harald controllers --listen 9102 > controllers.log &
sleep 1
harald serve --controller tcp:127.0.0.1:9102 > sensor.log &
